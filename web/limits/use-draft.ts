import { useEffect, useState } from 'react'
import type { AccessFileAnswer, AccessFileChange, LimitDraftAnswer } from '../../src/http/page/page-api.ts'
import { ApiError } from '../api/client.ts'
import { messageOf } from '../message-of.ts'
import { useServices } from '../services.ts'
import { say } from '../texts/say.ts'
import { announce } from '../ui/announce.ts'
import type { LimitEntryFields } from './limit-fields.ts'

const pauseMs = 250

/** A limit that is not saved yet, as access.json would have it. */
export interface Draft {
  /** Of what was typed until a moment ago. */
  readonly answer: LimitDraftAnswer | undefined
  /** `answer` is of what is typed now. */
  readonly isCurrent: boolean
  readonly isSaving: boolean
  /** Why it is not shown, or not saved. */
  readonly failure: string | undefined
  /** Saves the shown change. @returns whether it is saved */
  save(): Promise<boolean>
}

export interface DraftQuestion {
  /** Index in `limits`; `undefined`: it is added. */
  readonly place: number | undefined
  /** `null`: it is removed. `undefined`: it stays as it is. */
  readonly limit: LimitEntryFields | null | undefined
  /** The file must be the one with this fingerprint. */
  readonly version: string | undefined
}

/** Asks the service how access.json would look, a moment after each change. */
export function useDraft({ place, limit, version }: DraftQuestion): Draft {
  const { client } = useServices()
  const question = JSON.stringify({ version, place, limit })
  const [shown, setShown] = useState<{ readonly question: string; readonly answer: LimitDraftAnswer }>()
  const [failed, setFailed] = useState<{ readonly question: string; readonly why: string }>()
  const [isSaving, setSaving] = useState(false)
  const [round, setRound] = useState(0)

  useEffect(() => {
    const leaving = new AbortController()
    const ask = async (): Promise<void> => {
      try {
        const answer = await client.post<LimitDraftAnswer>('/api/limits/draft', JSON.parse(question), leaving.signal)
        setShown({ question, answer })
      } catch (error) {
        if (!leaving.signal.aborted) setFailed({ question, why: messageOf(error) })
      }
    }
    const timer = setTimeout(() => void ask(), pauseMs)
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
  }, [client, question, round])

  async function save(): Promise<boolean> {
    if (isSaving || shown?.question !== question || shown.answer.faults.length > 0) return false
    setSaving(true)
    try {
      const change: AccessFileChange = { version: shown.answer.base.version, text: shown.answer.text }
      await client.post<AccessFileAnswer>('/api/limits/file', change)
      announce(say.accessFile.saved)
      return true
    } catch (error) {
      setFailed({ question, why: messageOf(error) })
      // The line is shown again in the file as it is now.
      if (error instanceof ApiError && error.code === 'conflict') setRound(round + 1)
      setSaving(false)
      return false
    }
  }

  return {
    answer: shown?.answer,
    isCurrent: shown?.question === question,
    isSaving,
    failure: failed?.question === question ? failed.why : undefined,
    save,
  }
}
