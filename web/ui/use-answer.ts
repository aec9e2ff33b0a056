import { useCallback, useEffect, useEffectEvent, useState } from 'react'
import type { ApiClient } from '../api/client.ts'
import { messageOf } from '../message-of.ts'
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
 * Loads something of the service.
 *
 * @param key differs for each question: the answer to another one is not shown
 * @param round a new one asks again; the answer stays until the next one
 */
export function useLoaded<Answer>(
  load: (client: ApiClient, signal: AbortSignal) => Promise<Answer>,
  key: string,
  round?: unknown,
): AnswerState<Answer> {
  const { client } = useServices()
  const [loaded, setLoaded] = useState<Loaded<Answer>>({ key: '' })
  const [reloads, setReloads] = useState(0)
  const reload = useCallback(() => setReloads((count) => count + 1), [])
  const loadNow = useEffectEvent(load)

  useEffect(() => {
    const leaving = new AbortController()
    loadNow(client, leaving.signal).then(
      (answer) => setLoaded({ key, answer }),
      (error: unknown) => {
        if (leaving.signal.aborted) return
        setLoaded((before) => ({ ...(before.key === key ? before : { key }), error: messageOf(error) }))
      },
    )
    return () => leaving.abort()
  }, [client, key, round, reloads])

  const { answer, error } = loaded.key === key ? loaded : {}
  return { answer, error, reload }
}

/**
 * Gets JSON, again every `refreshMs` while the page is visible.
 *
 * @param pathNow makes the path of this moment
 * @param key differs for each question
 */
export function useAnswer<Answer>(pathNow: () => string, key: string, refreshMs: number): AnswerState<Answer> {
  const state = useLoaded((client, signal) => client.get<Answer>(pathNow(), signal), key)
  useReloads(state.reload, refreshMs)
  return state
}

/** Asks again every `refreshMs` while the page is visible. */
export function useReloads(reload: () => void, refreshMs: number): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') reload()
    }, refreshMs)
    return () => clearInterval(timer)
  }, [reload, refreshMs])
}
