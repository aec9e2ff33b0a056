import { useEffect, useMemo, useSyncExternalStore } from 'react'
import type { ModelsState } from '../models/models-store.ts'
import { recentModels } from '../models/recent-models.ts'
import { useServices } from '../services.ts'
import { useStore } from '../store.ts'
import { useVisible } from '../ui/use-visible.ts'
import { defaultModel } from './default-model.ts'

/** Polling interval while only the echo provider exists, so an added provider shows soon. */
const lookAgainMs = 5_000

/** Returns the models and the selected one. @param chosen model of the conversation */
export function useModel(chosen: string | undefined): {
  readonly state: ModelsState
  readonly model: string | undefined
} {
  const { boot, models } = useServices()
  const state = useStore(models.state)
  const userId = boot.user?.id
  const recent = useMemo(() => recentModels(userId), [userId])
  const first = useSyncExternalStore(recent.subscribe, () => defaultModel(state, recent.get()))
  const isVisible = useVisible()
  const isLookedFor =
    isVisible && state.kind === 'ready' && (state.answer.isEchoOnly || state.answer.models.length === 0)
  useEffect(() => {
    if (!isLookedFor) return undefined
    const timer = setInterval(() => void models.refresh(), lookAgainMs)
    return () => clearInterval(timer)
  }, [isLookedFor, models])
  return { state, model: chosen ?? first }
}
