import { useCallback, useEffect, useState } from 'react'
import { useServices } from '../services.ts'

/** An answer of the service, as far as it is known. */
export interface AnswerState<Answer> {
  /** The last answer to this question; `undefined` before it. */
  readonly answer: Answer | undefined
  /** Why the last question failed. */
  readonly error: string | undefined
  /** Asks again. */
  readonly reload: () => void
}

interface Loaded<Answer> {
  readonly key: string
  readonly answer?: Answer
  readonly error?: string
}

/**
 * Gets JSON, again every `refreshMs` while the page is visible.
 *
 * @param pathNow makes the path of this moment
 * @param key differs for each question
 */
export function useAnswer<Answer>(pathNow: () => string, key: string, refreshMs: number): AnswerState<Answer> {
  const { client } = useServices()
  const [loaded, setLoaded] = useState<Loaded<Answer>>({ key: '' })
  const [round, setRound] = useState(0)
  const reload = useCallback(() => setRound((count) => count + 1), [])

  useEffect(() => {
    const leaving = new AbortController()
    client.get<Answer>(pathNow(), leaving.signal).then(
      (answer) => setLoaded({ key, answer }),
      (error: unknown) => {
        if (leaving.signal.aborted) return
        const text = error instanceof Error ? error.message : String(error)
        setLoaded((before) => ({ ...(before.key === key ? before : { key }), error: text }))
      },
    )
    return () => leaving.abort()
    // The path differs at each moment; the key tells when another one is wanted.
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [client, key, round])

  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') reload()
    }, refreshMs)
    return () => clearInterval(timer)
  }, [reload, refreshMs])

  const isCurrent = loaded.key === key
  return {
    answer: isCurrent ? loaded.answer : undefined,
    error: isCurrent ? loaded.error : undefined,
    reload,
  }
}
