import type { AssistantMessage, ImageAttachment, UserMessage } from '../history/conversation.ts'
import { newId } from '../new-id.ts'
import type { FrameClock } from './frames.ts'

/** What a person said, at time 0. */
export function userMessage(text: string, images: readonly ImageAttachment[] = []): UserMessage {
  return { role: 'user', id: newId(), time: 0, text, images }
}

/** A complete answer at time 0; `more` replaces and adds members. */
export function answerMessage(more: Partial<AssistantMessage> = {}): AssistantMessage {
  return { role: 'assistant', id: newId(), time: 0, text: 'answer', reasoning: '', status: 'complete', ...more }
}

/** Frames and timers that come when a test says so. */
export interface FakeFrames extends FrameClock {
  /** The next frame of the browser. */
  frame(): void
  /** Every timer runs out. */
  timers(): void
  /** How many of both are waited for. */
  due(): number
}

/** Nothing is waited for. */
export function fakeFrames(): FakeFrames {
  const waiting = { frames: new Map<number, () => void>(), timers: new Map<number, () => void>() }
  let handles = 0
  const add = (map: Map<number, () => void>, run: () => void): number => {
    map.set(++handles, run)
    return handles
  }
  const runAll = (map: Map<number, () => void>): void => {
    const all = [...map.values()]
    map.clear()
    for (const run of all) run()
  }
  return {
    requestAnimationFrame: (run) => add(waiting.frames, run),
    cancelAnimationFrame: (handle) => void waiting.frames.delete(handle),
    setTimeout: (run) => add(waiting.timers, run),
    clearTimeout: (handle) => void waiting.timers.delete(handle),
    frame: () => runAll(waiting.frames),
    timers: () => runAll(waiting.timers),
    due: () => waiting.frames.size + waiting.timers.size,
  }
}
