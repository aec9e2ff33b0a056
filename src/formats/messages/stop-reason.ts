import type { FinishEvent, FinishReason } from '../answer.ts'

/** All others, such as `end_turn`, `stop_sequence` and `pause_turn`, are `stop`. */
const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map<unknown, FinishReason>([
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'length'],
  ['tool_use', 'tool_calls'],
  ['refusal', 'content_filter'],
])

/** The reason that a `stop_reason` stands for. */
export function readStopReason(stopReason: string | undefined): FinishReason {
  return finishReasons.get(stopReason) ?? 'stop'
}

/** The `stop_reason` of an answer. An answer with a call asks for its result, also if the upstream says otherwise. */
export function writeStopReason({ reason, raw }: Pick<FinishEvent, 'reason' | 'raw'>, hasCalls: boolean): string {
  if (reason === 'length') return raw === 'model_context_window_exceeded' ? raw : 'max_tokens'
  if (reason === 'content_filter') return 'refusal'
  if (hasCalls) return 'tool_use'
  return raw === 'stop_sequence' || raw === 'pause_turn' ? raw : 'end_turn'
}
