"""Secrets of staff: recognizable, different each time, and of one kind each."""

from sottovoce.aggregator.accounts.secrets import KEY_PREFIX, key_hash, link_hash, new_cookie, new_key, new_link


def test_secret_of_a_link_is_no_key() -> None:
    """Nor a cookie: what a log may keep of a link lets nobody in at another door."""
    secret, digest = new_link()

    assert digest == link_hash(secret) != key_hash(secret)


def test_key_is_known_by_its_beginning_and_is_new_each_time() -> None:
    """Programs that look for lost secrets find it."""
    keys = {new_key() for _ in range(100)}

    assert all(key.startswith(KEY_PREFIX) and key_hash(key) == digest for key, digest in keys)
    assert len(keys) == len({new_cookie() for _ in range(100)}) == 100
