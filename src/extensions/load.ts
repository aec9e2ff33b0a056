import * as list from './extension-list.ts'
import type { Extension } from './extension.ts'

/** No extension has the requested name; the service must not start without it. */
export class UnknownExtensionError extends Error {
  override readonly name = 'UnknownExtensionError'
}

/** Loads an extension by name. @throws {UnknownExtensionError} */
export async function loadExtension(name: string): Promise<Extension> {
  if (list.names.includes(name)) return (await list.load(name)).extension
  const existing = list.names.length === 0 ? 'there is none at all' : `the extensions are ${list.names.join(', ')}`
  throw new UnknownExtensionError(`there is no extension '${name.slice(0, 64)}': ${existing}`)
}
