/** 32 hexadecimal digits by chance. `crypto.randomUUID` is not there over plain http from another machine. */
export function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}
