import * as list from './extension-list.ts'
import type { Extension } from './extension.ts'

/** No extension has the requested name; the service must not start without it. */
export class UnknownExtensionError extends Error {
  override readonly name = 'UnknownExtensionError'
}

/**
 * Loads an extension by name.
 *
 * @param modules of the service that are switched on by name, too
 * @throws {UnknownExtensionError}
 */
export async function loadExtension(
  name: string,
  modules: ReadonlyMap<string, () => Promise<Extension>>,
): Promise<Extension> {
  const known = modules.get(name)
  if (known !== undefined) return known()
  if (list.names.includes(name)) return (await list.load(name)).extension
  const names = [...list.names, ...modules.keys()].toSorted().join(', ')
  throw new UnknownExtensionError(`there is no extension '${name.slice(0, 64)}': the extensions are ${names}`)
}
