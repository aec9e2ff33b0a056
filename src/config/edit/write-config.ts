import { randomUUID } from 'node:crypto'
import { readFileSync, renameSync } from 'node:fs'
import { access, constants, mkdir, open, readlink, realpath, rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isMissing } from '../../base/error-code.ts'
import { fingerprint } from '../watch/fingerprint.ts'

/** The file has changed since it was read; writing would undo that change. */
export class ConfigChangedError extends Error {
  override readonly name = 'ConfigChangedError'
  readonly path: string
  constructor(path: string) {
    super(`${path} has changed since it was read; read it again`)
    this.path = path
  }
}

/** The file is read-only. (Replacing it would need permission for its folder only.) */
export class ReadOnlyConfigError extends Error {
  override readonly name = 'ReadOnlyConfigError'
  readonly code = 'EACCES'
  constructor(path: string) {
    super(`${path} is read-only`)
  }
}

interface FileOwner {
  readonly uid: number
  readonly gid: number
}

/**
 * Replaces a configuration file atomically, so that readers see the old or the new text, even after a power failure.
 * The file is readable by its owner only (0600), and its owner is kept if permissions allow. The target of a symbolic
 * link is replaced. Missing folders are made (0700).
 *
 * @param expected `fingerprint` of the content that the text is based on; absent: any content is replaced
 * @returns the fingerprint of the new content
 * @throws {ConfigChangedError} when the content is not the expected one
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

/** Checks and renames synchronously, so that two writers in this process cannot both find the old content. */
function replace(target: string, draft: string, expected: string | undefined): void {
  if (expected !== undefined && fingerprint(readIfThere(target)) !== expected) throw new ConfigChangedError(target)
  renameSync(draft, target)
}

/** The owner of a file; `undefined` without a file. @throws {ReadOnlyConfigError} when the file is read-only */
async function ownerOf(path: string): Promise<FileOwner | undefined> {
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

async function writeDurably(path: string, text: string, owner: FileOwner | undefined): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    // Only root may change the owner; only files written by root need it.
    if (owner !== undefined) await file.chown(owner.uid, owner.gid).catch(() => undefined)
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Makes the rename durable. */
async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r')
    try {
      await handle.sync()
    } finally {
      await handle.close()
    }
  } catch {
    // Windows cannot open folders; renames are durable there.
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

/** Resolves a link whose target does not exist yet. */
async function followDanglingLink(path: string): Promise<string> {
  try {
    return resolve(dirname(path), await readlink(path))
  } catch {
    // Neither a link nor a file: the path itself will be made.
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
