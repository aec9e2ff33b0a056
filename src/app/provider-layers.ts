import type { ProviderConfig } from '../config/config.ts'
import type { Ask } from '../formats/ask.ts'
import { formats } from '../formats/format-list.ts'
import { onEnd, type Reply } from '../formats/reply.ts'
import { commit } from '../gateway/commit.ts'
import { conversion } from '../gateway/conversion.ts'
import { otherModel } from '../gateway/other-model.ts'
import type { AnswerService } from '../gateway/provider.ts'
import { repeatWithoutReasoning } from '../gateway/repeat-without-reasoning.ts'
import { compareModels } from '../profiles/compare-models.ts'
import type { AnswerBudget } from '../service/answer-budget.ts'
import type { Health } from '../service/health/health.ts'
import type { Bulkhead } from '../service/layers/bulkhead.ts'
import { deadline } from '../service/layers/deadline.ts'
import { observed } from '../service/layers/observed.ts'
import { retry } from '../service/layers/retry.ts'
import { traced } from '../service/layers/traced.ts'
import { stack } from '../service/service.ts'
import type { SharedTimers } from '../service/shared-timers.ts'
import type { SpanTarget } from '../service/trail.ts'
import { parseOrigin } from '../transport/header-block.ts'

/** Milliseconds for the first token of a silent model (failover.md, Timers). */
const silentMs = 300_000

export interface LayerOptions {
  readonly config: Pick<ProviderConfig, 'id' | 'retries' | 'timeouts' | 'brand' | 'baseUrl' | 'onOtherModel'>
  /** The provider's name for the model. */
  readonly model: string
  /** The model may think for minutes before its first token. */
  readonly isSilent: boolean
  /** The concurrency limit of the provider, over all its models. Absent: unlimited. */
  readonly limit: Bulkhead<Ask, Reply> | undefined
  readonly health: Health
  readonly answerBudget: AnswerBudget
  readonly timers: SharedTimers
  /** A monotonic clock in milliseconds. */
  readonly now: () => number
}

/** Puts the layers around an exchange with a provider, the outermost first (decision 4). Nothing else orders them. */
export function providerLayers(
  exchange: AnswerService,
  { config, model, isSilent, limit, health, answerBudget, timers, now }: LayerOptions,
): AnswerService {
  const { id, retries, timeouts } = config
  /** A limit set by the owner holds. Otherwise silent models get more time, and the last candidate has no limit. */
  function firstTokenMs(isLast = false): number {
    if (timeouts.isFirstTokenSet === true) return timeouts.firstTokenMs
    if (isLast) return Infinity
    return isSilent ? silentMs : timeouts.firstTokenMs
  }

  return stack<Ask, Reply>(
    exchange,
    ...(limit === undefined ? [] : [limit.layer]),
    observed({ health, onEnd, now }),
    ...(retries > 0 ? [retry<Ask, Reply>({ retries, onRetry: health.retrying })] : []),
    repeatWithoutReasoning,
    traced({ name: id, target: spanTarget(config), now }),
    otherModel({
      name: id,
      compare: (answered) => compareModels(model, answered),
      isPassedOver: config.onOtherModel === 'next',
    }),
    deadline({
      msOf: (ask, { isLast }) => (startsSoon(ask) ? firstTokenMs(isLast) : timeouts.attemptMs),
      idleMs: timeouts.idleMs,
      timers,
    }),
    commit,
    conversion(answerBudget),
  )
}

/** Whether the first event of the answer must come in the time for one. */
function startsSoon({ stream, format }: Ask): boolean {
  return stream && formats[format].startsLate !== true
}

/** The upstream of a provider, as spans name it. A proxy on the way is none of them. */
function spanTarget({ id, brand, baseUrl }: LayerOptions['config']): SpanTarget {
  const url = URL.parse(baseUrl)
  if (url === null) return { system: brand ?? id, address: '', port: 0 }
  const { hostname, port } = parseOrigin(url)
  return { system: brand ?? id, address: hostname, port }
}
