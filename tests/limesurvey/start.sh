#!/usr/bin/env bash
# Starts a real LimeSurvey on this machine, to try the lines of docs/hosts/limesurvey.md in it:
#
#   tests/limesurvey/start.sh LIMESURVEY DATA PORT
#
# LIMESURVEY is a folder with the files of LimeSurvey 6, without a configuration; DATA a new folder for the database.
# Needs php with mbstring, mysql, xml, gd, zip and intl, and mariadbd. Sign in at /index.php/admin as admin, "password".
# It stays until it is stopped by Ctrl-C.
set -euo pipefail
files=$(realpath "$1") data=$(realpath -m "$2") port=$3
config="$files/application/config/config.php"
if [ -e "$config" ] && ! grep -q "of a trial" "$config"; then
  echo "$config exists: take files of a LimeSurvey that nobody uses" >&2
  exit 2
fi
mkdir -p "$data"
# MariaDB and PHP run as who starts them; root has to name the user.
as=$(id -un)
mariadb-install-db --user="$as" --datadir="$data/db" --auth-root-authentication-method=normal > "$data/install.log" 2>&1
mariadbd --user="$as" --datadir="$data/db" --socket="$data/socket" --skip-networking --pid-file="$data/pid" \
  > "$data/mariadb.log" 2>&1 &
trap 'kill $(jobs -p) 2> /dev/null; wait' EXIT
for _ in $(seq 100); do mariadb -u root -S "$data/socket" -e "select 1" > /dev/null 2>&1 && break; sleep .2; done
mariadb -u root -S "$data/socket" -e "create database limesurvey character set utf8mb4"
cat > "$config" <<PHP
<?php // of a trial
return ['components' => [
  'db' => ['connectionString' => 'mysql:unix_socket=$data/socket;dbname=limesurvey;', 'username' => 'root',
    'password' => '', 'charset' => 'utf8mb4', 'tablePrefix' => 'lime_', 'emulatePrepare' => true],
  'urlManager' => ['urlFormat' => 'path', 'showScriptName' => true]],
  'config' => ['debug' => 0, 'RPCInterface' => 'json']];
PHP
rm -f "$files/application/config/security.php"
php "$files/application/commands/console.php" install admin password Admin admin@example.org > "$data/install.log" 2>&1
PHP_CLI_SERVER_WORKERS=4 php -S "127.0.0.1:$port" -t "$files" > "$data/php.log" 2>&1
