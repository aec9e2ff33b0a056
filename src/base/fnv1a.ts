/** FNV-1a of the UTF-16 code units, as an unsigned 32-bit number. */
export function fnv1a(word: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < word.length; index++) hash = Math.imul(hash ^ word.charCodeAt(index), 0x01000193)
  return hash >>> 0
}
