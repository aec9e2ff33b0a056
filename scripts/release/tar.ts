import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** A file, a link or (without either) a folder of a tar archive. Owner and group are 0 unless `owner` is set. */
export interface TarEntry {
  /** Without `/` at its start; of a folder also without one at its end. At most 255 bytes. */
  readonly path: string
  readonly mode: number
  readonly bytes?: Uint8Array
  readonly link?: string
  readonly owner?: number
}

const block = 512

/**
 * Writes entries as a tar archive (ustar), sorted by path. The bytes depend on the entries and the time alone.
 *
 * @param time of every entry, in seconds since 1970
 */
export function tar(entries: readonly TarEntry[], time: number): Uint8Array<ArrayBuffer> {
  const sorted = entries.toSorted((one, other) => (one.path < other.path ? -1 : 1))
  const parts = sorted.flatMap((entry) => {
    const { bytes = new Uint8Array() } = entry
    return [header(entry, time), bytes, new Uint8Array((block - (bytes.length % block)) % block)]
  })
  return Buffer.concat([...parts, new Uint8Array(2 * block)])
}

function header(entry: TarEntry, time: number): Uint8Array {
  const { mode, bytes, link, owner = 0 } = entry
  const isFolder = bytes === undefined && link === undefined
  const { name, prefix } = splitPath(isFolder ? `${entry.path}/` : entry.path)
  const head = Buffer.alloc(block)
  const octal = (value: number, offset: number, length: number) =>
    head.write(`${value.toString(8).padStart(length - 1, '0')}\0`, offset, 'latin1')
  head.write(name, 0)
  octal(mode, 100, 8)
  octal(owner, 108, 8)
  octal(owner, 116, 8)
  octal(bytes?.length ?? 0, 124, 12)
  octal(time, 136, 12)
  head.fill(' ', 148, 156)
  head.write(isFolder ? '5' : link === undefined ? '0' : '2', 156)
  if (Buffer.byteLength(link ?? '') > 100) throw new RangeError(`a link is too long for a tar archive: ${link}`)
  head.write(link ?? '', 157)
  head.write('ustar\x0000', 257, 'latin1')
  head.write(prefix, 345)
  const sum = head.reduce((total, byte) => total + byte, 0)
  head.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return head
}

/** Up to 100 bytes are the name; what does not fit stands before a `/` in the prefix of 155. */
function splitPath(path: string): { readonly name: string; readonly prefix: string } {
  if (Buffer.byteLength(path) <= 100) return { name: path, prefix: '' }
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) {
    const [prefix, name] = [path.slice(0, at), path.slice(at + 1)]
    if (name !== '' && Buffer.byteLength(name) <= 100 && Buffer.byteLength(prefix) <= 155) return { name, prefix }
  }
  throw new RangeError(`a path is too long for a tar archive: ${path}`)
}

/** Folders, files and links below a folder, with their modes; `prefix` comes before their paths. */
export function entriesOf(folder: string, prefix = ''): readonly TarEntry[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name): TarEntry => {
    const from = join(folder, name)
    const path = `${prefix}${name}`
    const found = lstatSync(from)
    const mode = found.mode & 0o7777
    if (found.isSymbolicLink()) return { path, mode: 0o777, link: readlinkSync(from) }
    if (found.isDirectory()) return { path, mode }
    if (found.isFile()) return { path, mode, bytes: readFileSync(from) }
    throw new TypeError(`neither a file nor a folder nor a link: ${from}`)
  })
}
