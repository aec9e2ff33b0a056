import type { TextRule } from '../../base/text-rule.ts'
import type { KeyTable, StoredKey } from '../../ledger/ledger.ts'
import type { Grants } from './grants.ts'
import type { TokenRule } from './token/token-rule.ts'

/**
 * A key in access.json, by its hash, or by the tokens that prove it (docs/keys.md). It is not in the database, but for
 * the name of its line.
 */
export interface FileKey {
  readonly name: string
  /** Also its id: see {@link lineOfFileKey}. */
  readonly line: number
  /** SHA-256 in base64. Of a key with tokens: of its name, so that no key has it. */
  readonly hash: string
  /** Absent: the key itself is sent. */
  readonly token?: TokenRule
  readonly grants: Grants
  /** Unix milliseconds. Absent: it does not expire. */
  readonly expires?: number
  /** Name of the team that it belongs to. */
  readonly team?: string
}

/** A name is never a number, so that `key:NAME` is no `key:ID`. */
export const fileKeyNameRule: TextRule = {
  allowed: 'a name of letters, digits, ".", "_" and "-", beginning with a letter',
  pattern: /^[A-Za-z][A-Za-z0-9._-]*$/,
  lengthMax: 64,
}

/** The author of keys in access.json. */
export const fileKeyMaker = 'access.json'

/**
 * The line of a key in access.json. It follows from the name alone, so that a key with another hash in its place goes
 * on with the same limits and sums, on all machines. It is negative; lines of keys in the database are positive.
 */
export function lineOfFileKey(name: string): number {
  const digest = Buffer.from(Bun.SHA256.hash(`access.json ${name}`, 'hex'), 'hex')
  return -2 - digest.readUIntBE(0, 6)
}

/** The hash of a key that tokens prove. */
export function hashOfTokenKey(name: string): string {
  return Bun.SHA256.hash(`token of ${name}`, 'base64')
}

/** Whether a line is that of a key in access.json. */
export function isFileLine(line: number): boolean {
  return line < 0
}

/** The keys in access.json as if they were stored, with their last uses. @throws {LedgerUnavailable} */
export async function storedFileKeys(
  table: Pick<KeyTable, 'uses'>,
  keys: readonly FileKey[],
): Promise<readonly StoredKey[]> {
  if (keys.length === 0) return []
  const used = await table.uses(keys.map(({ line }) => line))
  return keys.map((key) => storedFileKey(key, used.get(key.line)))
}

/** A key as if it were stored. @param used its last use, in Unix milliseconds */
export function storedFileKey({ name, line, hash, token, grants, expires, team }: FileKey, used?: number): StoredKey {
  return {
    ...{ id: line, line, name, hash, kind: 'program', made: 0, madeBy: fileKeyMaker },
    hint:
      token === undefined
        ? `sha256 ${Buffer.from(hash, 'base64').toString('hex').slice(0, 8)}…`
        : `token of ${new URL(token.issuer).host}`,
    grants: JSON.stringify(grants),
    ...(expires === undefined ? {} : { expires }),
    ...(used === undefined ? {} : { used }),
    ...(team === undefined ? {} : { team }),
  }
}
