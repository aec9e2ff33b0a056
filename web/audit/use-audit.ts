import { useCallback, useEffect, useState } from 'react'
import type { AuditAnswer, AuditLine, AuditReport } from '../../src/http/page/page-api.ts'
import { messageOf } from '../message-of.ts'
import { useServices } from '../services.ts'
import { useLoaded, useReloads, type AnswerState } from '../ui/use-answer.ts'

/** The recorded changes, as far as they were asked for. */
export interface AuditState extends AnswerState<AuditAnswer> {
  /** Older entries are being loaded. */
  readonly isLoading: boolean
  /** Adds older entries. */
  readonly loadOlder: () => void
}

const refreshMs = 60_000

/** Loads the newest entries, and older ones when they are asked for. */
export function useAudit(): AuditState {
  const { client } = useServices()
  const [entries, setEntries] = useState<readonly AuditLine[]>()
  const [hasMore, setMore] = useState(false)
  const [error, setError] = useState<string>()
  const [wanted, setWanted] = useState<{ readonly before?: number }>({})
  const [isLoading, setLoading] = useState(false)

  useEffect(() => {
    const leaving = new AbortController()
    const { before } = wanted
    client.get<AuditAnswer>(`/api/audit${before === undefined ? '' : `?before=${before}`}`, leaving.signal).then(
      (answer) => {
        setEntries((known = []) => (before === undefined ? answer.entries : [...known, ...answer.entries]))
        setMore(answer.hasMore)
        setError(undefined)
        setLoading(false)
      },
      (reason: unknown) => {
        if (leaving.signal.aborted) return
        setError(messageOf(reason))
        setLoading(false)
      },
    )
    return () => leaving.abort()
  }, [client, wanted])

  const reload = useCallback(() => setWanted({}), [])
  // The newest entries replace all others, so a person who reads older ones keeps them.
  const refresh = useCallback(() => setWanted((last) => (last.before === undefined ? {} : last)), [])
  useReloads(refresh, refreshMs)
  const last = entries?.at(-1)?.seq
  return {
    answer: entries === undefined ? undefined : { entries, hasMore },
    error,
    isLoading,
    reload,
    loadOlder() {
      if (isLoading || last === undefined) return
      setLoading(true)
      setWanted({ before: last })
    },
  }
}

/** Has the service verify all entries. @param round a new one asks again */
export function useChain(round: unknown): AnswerState<AuditReport> {
  const path = '/api/audit/verify'
  return useLoaded((client, signal) => client.get<AuditReport>(path, signal), path, round)
}
