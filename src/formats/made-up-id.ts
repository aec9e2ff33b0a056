/** Makes up an id, for answers without one: the prefix, and 32 hexadecimal digits. @param prefix such as `call_` */
export function madeUpId(prefix: string): string {
  return prefix + crypto.randomUUID().replaceAll('-', '')
}
