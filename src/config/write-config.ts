import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync } from 'node:fs'
import { access, constants, mkdir, open, readlink, realpath, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isMissing } from './error-code.ts'
import { fingerprint } from './fingerprint.ts'

/** Somebody else changed the file since it was read: what was to be written would undo that. */
export class ConfigChangedError extends Error {
  override readonly name = 'ConfigChangedError'
  readonly path: string
  constructor(path: string) {
    super(`${path} was changed by somebody else; read it again`)
    this.path = path
  }
}

/** The file is marked as one that is not to be written, although its folder would let it be replaced. */
export class ReadOnlyConfigError extends Error {
  override readonly name = 'ReadOnlyConfigError'
  readonly code = 'EACCES'
  constructor(path: string) {
    super(`${path} is read-only`)
  }
}

interface Owner {
  readonly uid: number
  readonly gid: number
}

/**
 * Replaces a configuration file atomically: whoever reads it sees the old or the new text, also after a power cut.
 * Readable by its owner only (0600), who stays the same as far as this process may say so. A symbolic link stays and
 * its target is replaced. Missing folders are made (0700).
 *
 * @param expected the `fingerprint` of the content this text is based on; left out, whatever is there is replaced
 * @returns the fingerprint of what is there now
 * @throws {ConfigChangedError} when the content is another one
 * @throws {ReadOnlyConfigError}
 */
export async function writeConfig(path: string, text: string, expected?: string): Promise<string> {
  const target = await followLink(path)
  const owner = await ownerOf(target)
  const folder = dirname(target)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const draft = join(folder, `.${basename(target)}.${randomUUID()}`)
  try {
    await writeDurably(draft, text, owner)
    replace(target, draft, expected)
  } finally {
    await rm(draft, { force: true })
  }
  await syncFolder(folder)
  return fingerprint(text)
}

/** Looks and renames in one go, so that two writers in this process cannot both find the old content. */
function replace(target: string, draft: string, expected: string | undefined): void {
  if (expected !== undefined && fingerprint(readIfThere(target)) !== expected) throw new ConfigChangedError(target)
  renameSync(draft, target)
}

/**
 * Who a file is of; `undefined`: there is none. @throws {ReadOnlyConfigError} when it may not be written, by anybody or
 * by this process
 */
async function ownerOf(path: string): Promise<Owner | undefined> {
  try {
    const status = await stat(path)
    if ((status.mode & 0o222) === 0) throw new ReadOnlyConfigError(path)
    await access(path, constants.W_OK)
    return status
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

async function writeDurably(path: string, text: string, owner: Owner | undefined): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    // Only an administrator can, and only an administrator would take it from somebody else.
    if (owner !== undefined) await file.chown(owner.uid, owner.gid).catch(() => undefined)
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** The rename itself must survive a power cut too. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r')
    await handle.sync().finally(() => handle.close())
  } catch {
    // Windows cannot open folders; there the rename is durable by itself.
  }
}

async function followLink(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    if (!isMissing(error)) throw error
    return followDanglingLink(path)
  }
}

/** A link whose target is yet to be made. */
async function followDanglingLink(path: string): Promise<string> {
  try {
    return resolve(dirname(path), await readlink(path))
  } catch {
    // No link and no file: it will be made.
    return resolve(path)
  }
}

function readIfThere(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
