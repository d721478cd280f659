/** SHA-256 of bytes or of text in UTF-8, as 64 hexadecimal digits. */
export async function sha256(data) {
  const bytes = typeof data === "string" ? new TextEncoder().encode(data) : data;
  return hexadecimal(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

/** Bytes as lower-case hexadecimal digits. */
export function hexadecimal(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
