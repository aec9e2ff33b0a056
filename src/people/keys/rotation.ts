import type { RouteContext } from '../../extensions/extension.ts'
import { WireError } from '../../formats/error.ts'
import { parseJsonObject } from '../../formats/parse-json-object.ts'
import type { NoSuccessor } from '../../ledger/ledger.ts'
import { KeyFault } from './grants.ts'
import { overlapDaysMax, parseDays, type MadeKey } from './manage-keys.ts'
import { idOf, keyNotFound, parsed } from './responses.ts'

const bodyBytesMax = 64 * 1024
const overlapDaysDefault = 1

/** A request to rotate a key: the key, and days that it lives on. */
export interface RotationRequest {
  readonly id: number
  readonly overlapDays: number
}

/** Parses a request to `{beginning}{id}/rotate`. @throws {WireError} */
export async function rotationOf({ path, body }: RouteContext, beginning: string): Promise<RotationRequest> {
  const overlapDays = parsed(overlapOf, await body(bodyBytesMax))
  return { id: idOf(path.slice(0, -'/rotate'.length), beginning), overlapDays }
}

/** The body of a rotation may be empty. */
function overlapOf(body: Uint8Array): number {
  const { overlap_days: days = overlapDaysDefault, ...others } = body.length === 0 ? {} : parseJsonObject(body)
  const [other] = Object.keys(others)
  if (other !== undefined) throw new KeyFault(other.slice(0, 64), 'unknown member, allowed: overlap_days')
  return parseDays(days, 'overlap_days', 0, overlapDaysMax)
}

/** The successor. @throws {WireError} 404 or 409: there is none */
export function successorOf(made: MadeKey | NoSuccessor): MadeKey {
  if (made === 'unknown') throw keyNotFound()
  if (typeof made !== 'string') return made
  throw new WireError(409, 'invalid_request_error', 'key_not_rotatable', notRotatableTexts[made])
}

const notRotatableTexts = {
  over: 'The key has ended or expired: make a new one',
  replaced: 'The key was rotated before: rotate its successor, which has the same line',
  personal: 'The key belongs to a person, and has no successor: the person makes a new key, and ends this one',
}
