/** A key for people and programs, without its secret. Times are RFC 3339; `null` where there is none. */
export interface KeyView {
  readonly id: number
  readonly name: string
  readonly kind: string
  /** Its beginning and end. */
  readonly hint: string
  /** `resting`: its person has not been there for 30 days. */
  readonly state: 'active' | 'resting' | 'expired' | 'ended'
  /** `null`: it is in access.json, where this is not known. */
  readonly made: string | null
  readonly made_by: string
  /** Where it stands. One in access.json is changed and ended there. */
  readonly source: 'database' | 'access.json'
  readonly expires: string | null
  readonly ended: string | null
  readonly ended_by: string | null
  /** To the minute. */
  readonly last_used: string | null
  /** User name of the person whose own key it is. */
  readonly person: string | null
  /** Name of the team that it belongs to. */
  readonly team: string | null
  /** The id of the first key of its line: a key and its successors by rotation. */
  readonly line: number
  /** `null`: all. */
  readonly models: readonly string[] | null
  readonly providers: readonly string[] | null
  readonly networks: readonly string[] | null
  readonly scopes: readonly string[]
}
