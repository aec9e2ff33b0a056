import { useCallback, useEffect, useState } from 'react'
import type { UsageAnswer } from '../../src/http/page/page-api.ts'
import { useServices } from '../services.ts'

const refreshMs = 60_000

/** The use of a range, as far as it is known. */
export interface UsageState {
  /** The last answer to this question; `undefined` before it. */
  readonly answer: UsageAnswer | undefined
  /** Why the last question failed. */
  readonly error: string | undefined
  /** Asks again. */
  readonly reload: () => void
}

interface Loaded {
  readonly query: string
  readonly answer?: UsageAnswer
  readonly error?: string
}

/** Asks for the use, again every minute while the page is visible. @param queryNow makes the query of this moment */
export function useUsage(queryNow: () => string, key: string): UsageState {
  const { client } = useServices()
  const [loaded, setLoaded] = useState<Loaded>({ query: '' })
  const [round, setRound] = useState(0)
  const reload = useCallback(() => setRound((count) => count + 1), [])

  useEffect(() => {
    const leaving = new AbortController()
    client.get<UsageAnswer>(`/api/usage?${queryNow()}`, leaving.signal).then(
      (answer) => setLoaded({ query: key, answer }),
      (error: unknown) => {
        if (leaving.signal.aborted) return
        const text = error instanceof Error ? error.message : String(error)
        setLoaded((before) => ({ ...(before.query === key ? before : { query: key }), error: text }))
      },
    )
    return () => leaving.abort()
    // The query differs at each moment; the key tells when another one is wanted.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [client, key, round])

  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') reload()
    }, refreshMs)
    return () => clearInterval(timer)
  }, [reload])

  const isCurrent = loaded.query === key
  return {
    answer: isCurrent ? loaded.answer : undefined,
    error: isCurrent ? loaded.error : undefined,
    reload,
  }
}
