import type { JsonObject } from '../../base/json-value.ts'
import type { ProtocolName } from '../config.ts'

/*
 * What an import makes of a file of another gateway, in terms of none: accounts, models at them, the steps of each name
 * that callers use, aliases, limits. A reader (`sources/`) makes the plan and notes what became of each value
 * (`findings.ts`). `arrange.ts` brings the accounts into one order, which svc has for all models, and `emit.ts` writes
 * the files.
 */

/** A key: the name of its variable, and the key itself where it stands in the imported file. */
export interface PlannedKey {
  readonly variable: string
  readonly literal?: string
}

/** An account at an address, with the settings that svc has for a whole provider. Each is there once in a plan. */
export interface PlannedAccount {
  /** Wished id. */
  readonly id: string
  readonly brand?: string | undefined
  readonly protocol?: Exclude<ProtocolName, 'echo'> | undefined
  /** Absent: the brand's. */
  readonly baseUrl?: string | undefined
  /** Absent: the brand's variable, or none. */
  readonly key?: PlannedKey | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly enabled?: false | undefined
  readonly proxy?: string | undefined
  readonly firstTokenMs?: number | undefined
  readonly attemptMs?: number | undefined
  readonly retries?: number | undefined
  readonly maxConcurrent?: number | undefined
  readonly overrides?: JsonObject | undefined
  readonly defaults?: JsonObject | undefined
}

/** A model at an account. */
export interface PlannedModel {
  readonly account: PlannedAccount
  /** Its own name for callers. */
  readonly name: string
  readonly upstream: string
  readonly context?: number | undefined
  readonly maxOutput?: number | undefined
  readonly input?: readonly string[] | undefined
  /** As in providers.json. */
  readonly price?: JsonObject | undefined
}

/** The plan of an import. */
export interface Plan {
  /** Name that callers use → the models that are asked, in this order. */
  readonly routes: ReadonlyMap<string, readonly PlannedModel[]>
  /** Accounts that offer all models of their own lists. */
  readonly open: readonly PlannedAccount[]
  /** Another name → a name of `routes`. */
  readonly aliases: ReadonlyMap<string, string>
  /** The next model is asked after a refusal of the content. */
  readonly isNextOnPolicy: boolean
  /** Entries of access.json. */
  readonly limits: readonly PlannedLimit[]
}

/** An entry of `limits` in access.json. */
export interface PlannedLimit {
  /** The account that it is for, or the text of `for`. */
  readonly subject: PlannedAccount | string
  readonly amounts: JsonObject
}
