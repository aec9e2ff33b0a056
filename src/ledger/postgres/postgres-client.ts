import { SQL } from 'bun'
import { nameOfServer } from '../ledger-place.ts'
import { LedgerRefused, LedgerUnavailable } from '../ledger.ts'
import { storableText } from '../work.ts'
import { databaseFailure, isConnectionKept } from './postgres-failure.ts'

/** A value of a parameter. Numbers must be whole. */
export type SqlValue = string | number | boolean | null | Uint8Array

/** A row of a result, not checked. `bigint` columns are texts of digits. */
export type SqlRow = Readonly<Record<string, unknown>>

/** Runs a statement with parameters `$1`, `$2` …; without parameters it may be several statements. */
export type Query = (statement: string, values?: readonly SqlValue[]) => Promise<readonly SqlRow[]>

/** A connection to PostgreSQL, opened at its first use, and anew after a failure. It does one work after the other. */
export interface PostgresClient {
  /** Performs work without a transaction. @throws {LedgerUnavailable} */
  perform<Value>(work: (query: Query) => Promise<Value>, options?: WorkOptions): Promise<Value>
  /**
   * Performs work in one transaction. An error in it undoes the transaction.
   *
   * @throws {LedgerUnavailable} @throws {OutcomeUnknown}
   */
  transaction<Value>(work: (query: Query) => Promise<Value>, options?: WorkOptions): Promise<Value>
  /** The number of connections so far. */
  readonly connections: number
  /** Closes the connection after the work under way. */
  close(): Promise<void>
}

/** Options of work. */
export interface WorkOptions {
  /** Limit of each statement in milliseconds. Default: that of the client. */
  readonly deadlineMs?: number
}

/** The server gave no answer to COMMIT: the transaction may have happened or not. */
export class OutcomeUnknown extends LedgerUnavailable {}

export interface PostgresClientOptions {
  /** A checked URL. */
  readonly url: string
  /** Limit of connecting and of each statement in milliseconds. Default 5,000. */
  readonly deadlineMs?: number
  /** After a deadline has passed, work fails at once for this time. Default 1,000. */
  readonly pauseMs?: number
  /** An unused connection is closed after this time in milliseconds. Default: never. */
  readonly idleMs?: number
}

interface Connection {
  readonly pool: SQL
  readonly send: (text: string, values: SqlValue[]) => Promise<unknown>
}

/** Work that waits for its turn. */
const waitingMax = 1_000

/** Statements end at the server soon after their deadline here. */
const serverGraceMs = 500
const lockMsMax = 4_000
/** A transaction that its client has left ends. */
const idleTransactionMs = 15_000

/**
 * A client of our own around Bun's: one reserved connection, so that no statement of a transaction can reach another
 * connection; a deadline around each statement; a new connection after each failure of the old one.
 */
export function postgresClient({
  url,
  deadlineMs = 5_000,
  pauseMs = 1_000,
  idleMs,
}: PostgresClientOptions): PostgresClient {
  const name = nameOfServer(url)
  let connection: Connection | undefined
  let connections = 0
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  let pausedUntil = 0
  let isClosed = false
  let idleTimer: Timer | undefined

  async function connect(): Promise<Connection> {
    const pool = new SQL(url, {
      max: 1,
      idleTimeout: 0,
      maxLifetime: 0,
      connectionTimeout: Math.ceil(deadlineMs / 1_000),
    })
    try {
      const reserved = await within(pool.reserve(), deadlineMs, name)
      const send: Connection['send'] = (text, values) => reserved.unsafe(text, values)
      await queryOf(send)(
        `SELECT set_config('search_path', 'svc', false), set_config('application_name', 'svc', false),
                set_config('client_min_messages', 'warning', false), set_config('bytea_output', 'hex', false),
                set_config('lock_timeout', '${Math.min(lockMsMax, deadlineMs)}', false),
                set_config('statement_timeout', '${deadlineMs + serverGraceMs}', false),
                set_config('idle_in_transaction_session_timeout', '${idleTransactionMs}', false)`,
      )
      connections += 1
      return { pool, send }
    } catch (error) {
      end(pool)
      // Errors of TLS are those of the runtime.
      throw error instanceof SQL.PostgresError || error instanceof LedgerUnavailable ? error : untrusted(error, name)
    }
  }

  function queryOf(send: Connection['send'], limitMs = deadlineMs): Query {
    return async (text, values = []) => {
      const cleaned = values.map((value) => (typeof value === 'string' ? storableText(value) : value))
      const rows = await within(send(text, cleaned), limitMs, name)
      // Bun's client gives an array of objects.
      // oxlint-disable-next-line typescript/consistent-type-assertions
      return (Array.isArray(rows) ? rows : []) as readonly SqlRow[]
    }
  }

  function drop(): void {
    if (connection !== undefined) end(connection.pool)
    connection = undefined
  }

  async function attempt<Value>(work: (query: Query) => Promise<Value>, options: WorkOptions): Promise<Value> {
    if (isClosed) throw new LedgerUnavailable(`the connection to the database ${name} is closed`)
    if (performance.now() < pausedUntil) throw new LedgerUnavailable(`the database ${name} does not answer`)
    try {
      connection ??= await connect()
      return await work(queryOf(connection.send, options.deadlineMs))
    } catch (error) {
      if (!isConnectionKept(error)) drop()
      if (error instanceof DeadlinePassed) pausedUntil = performance.now() + pauseMs
      throw databaseFailure(error, name)
    }
  }

  async function inTurn<Value>(work: (query: Query) => Promise<Value>, options: WorkOptions = {}): Promise<Value> {
    if (waiting >= waitingMax) throw new LedgerUnavailable(`the database ${name} is too slow`)
    clearTimeout(idleTimer)
    waiting += 1
    const done = last.then(() => attempt(work, options))
    last = done.catch(() => undefined)
    try {
      return await done
    } finally {
      waiting -= 1
      if (waiting === 0 && idleMs !== undefined) {
        idleTimer = setTimeout(drop, idleMs)
        idleTimer.unref()
      }
    }
  }

  return {
    perform: inTurn,
    transaction: (work, options) =>
      inTurn(async (query) => {
        await query('BEGIN')
        const value = await undone(query, () => work(query))
        await committed(query, name)
        return value
      }, options),
    get connections() {
      return connections
    },
    async close() {
      clearTimeout(idleTimer)
      isClosed = true
      await last
      drop()
    },
  }
}

/** A failed transaction is undone at once; a connection that cannot do that is dropped. */
async function undone<Value>(query: Query, work: () => Promise<Value>): Promise<Value> {
  try {
    return await work()
  } catch (error) {
    if (isConnectionKept(error)) await query('ROLLBACK')
    throw error
  }
}

/** @throws {OutcomeUnknown} */
async function committed(query: Query, name: string): Promise<void> {
  try {
    await query('COMMIT')
  } catch (error) {
    if (isConnectionKept(error)) throw error
    throw new OutcomeUnknown(`the database ${name} gave no answer to the end of a transaction`, { cause: error })
  }
}

function untrusted(error: unknown, name: string): LedgerRefused {
  const reason = error instanceof Error ? error.message : String(error)
  return new LedgerRefused(`the database ${name} cannot be trusted: ${reason}`, { cause: error })
}

/** A statement was not answered in time. */
class DeadlinePassed extends LedgerUnavailable {}

/** @throws {DeadlinePassed} */
async function within<Value>(pending: Promise<Value>, limitMs: number, name: string): Promise<Value> {
  const late = Promise.withResolvers<never>()
  const passed = (): void => late.reject(new DeadlinePassed(`the database ${name} gave no answer in ${limitMs} ms`))
  const timer = setTimeout(passed, limitMs)
  try {
    return await Promise.race([pending, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** The connection may hang: its end is not waited for. */
function end(pool: SQL): void {
  void pool.close({ timeout: 0 }).catch(() => undefined)
}

/** Values as the text of one parameter, for functions of `jsonb`. */
export function jsonParameter(rows: readonly (object | string | number)[]): string {
  return JSON.stringify(rows, (_, value: unknown) => (typeof value === 'string' ? storableText(value) : value))
}
