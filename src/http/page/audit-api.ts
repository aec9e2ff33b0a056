import { WireError } from '../../formats/error.ts'
import type { ChainReport } from '../../ledger/audit-chain.ts'
import type { AuditTable } from '../../ledger/ledger.ts'
import type { HandlerContext } from '../handler-context.ts'
import { jsonResponse } from '../json-response.ts'
import type { Route } from '../route.ts'
import { readLedger } from './ledger-answer.ts'
import { checkOwner, type OwnerCheck } from './owner-check.ts'
import type { AuditAnswer, AuditLine } from './page-api.ts'
import { integerOf } from './query.ts'

export interface AuditApiOptions {
  /** `undefined`: no change is recorded. */
  readonly audit: () => AuditTable | undefined
  readonly isOwner: OwnerCheck
  /** Milliseconds for a verification. Default 20,000. */
  readonly verifyMs?: number
}

const listed = { minimum: 1, maximum: 1_000, fallback: 100 }
const anySeq = { minimum: 1, maximum: Number.MAX_SAFE_INTEGER, fallback: Number.MAX_SAFE_INTEGER }

/** `GET /api/audit` and `GET /api/audit/verify`, for owners (docs/keys.md). */
export function auditApi({ audit, isOwner, verifyMs = 20_000 }: AuditApiOptions): readonly Route[] {
  /** Questions at the same time share one walk. */
  let verifying: Promise<ChainReport> | undefined

  function tableFor(context: HandlerContext): AuditTable {
    checkOwner(isOwner, context)
    const table = audit()
    if (table !== undefined) return table
    throw new WireError(
      404,
      'invalid_request_error',
      'audit_not_kept',
      'No change is recorded: start svc with --auth keys',
    )
  }

  async function list(context: HandlerContext): Promise<Response> {
    const table = tableFor(context)
    const query = new URL(context.request.url).searchParams
    const limit = integerOf(query, 'limit', listed)
    const before = integerOf(query, 'before', anySeq)
    const { shownEntry } = await chainCode()
    const found = await readLedger('The audit', () => table.list(before, limit + 1))
    const entries = found.slice(0, limit).map(shownEntry)
    const ids = new Set(entries.flatMap((entry) => keyOf(entry) ?? []))
    const names = ids.size === 0 ? undefined : await readLedger('The audit', () => table.keyNames([...ids]))
    const answer: AuditAnswer = {
      entries: entries.map((entry) => {
        const keyName = names?.get(keyOf(entry) ?? 0) ?? ''
        return keyName === '' ? entry : { ...entry, keyName }
      }),
      hasMore: found.length > limit,
    }
    return jsonResponse(answer, context.id)
  }

  async function verify(context: HandlerContext): Promise<Response> {
    const table = tableFor(context)
    verifying ??= readLedger('The audit', () => verifyInTime(table, verifyMs)).finally(() => {
      verifying = undefined
    })
    return jsonResponse(await verifying, context.id)
  }

  return [
    { method: 'GET', path: '/api/audit', isPublic: false, handle: list },
    { method: 'GET', path: '/api/audit/verify', isPublic: false, handle: verify },
  ]
}

/** The key that an entry is about. A changed entry may name any. */
function keyOf({ action, object }: Pick<AuditLine, 'action' | 'object'>): number | undefined {
  const id = Number(object)
  return action.startsWith('key.') && Number.isSafeInteger(id) ? id : undefined
}

/** A service without keys does not load it. */
const chainCode = () => import('../../ledger/audit-chain.ts')

async function verifyInTime(table: AuditTable, ms: number): Promise<ChainReport> {
  const signal = AbortSignal.timeout(ms)
  try {
    const { verifyChain } = await chainCode()
    return await verifyChain(table, { signal })
  } catch (error) {
    if (!signal.aborted) throw error
    const message = 'The audit is too long to be verified here; run svc audit verify'
    throw new WireError(503, 'overloaded_error', 'deadline_exceeded', message, { cause: error })
  }
}
