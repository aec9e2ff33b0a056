import { totalmem } from 'node:os'
import type { Limits } from '../config/config.ts'
import { shareOf } from '../config/share-of.ts'
import { bodyBudget } from '../http/body-budget.ts'
import type { ChatOptions } from '../http/chat-completions.ts'
import { headroom, requestsWithin, type HeadroomOptions } from '../http/headroom.ts'
import { uploadsUnderWay } from '../http/uploads.ts'
import { answerRoom } from '../service/answer-room.ts'
import { descriptorsMost, descriptorUse } from './descriptors.ts'

const bodyBudgetBytesMost = 512 * 1024 * 1024

/** What {@link roomFor} needs. */
export interface RoomOptions extends Pick<HeadroomOptions, 'upstreams' | 'underWay'> {
  /** Those in force, this process's own share of them. */
  readonly limits: () => Limits
  /** Processes that share the memory of this machine. Each has descriptors of its own. */
  readonly workers: number
}

/** What a process has room for. */
export type Room = Pick<
  ChatOptions,
  'requestsMost' | 'hasRoom' | 'lacksDescriptors' | 'bodyBudget' | 'answerRoom' | 'uploads'
>

/**
 * What this process has room for: as its owner says, else by the descriptors and the memory there are. Answers have as
 * much as bodies, apart from them: what providers send keeps no request out.
 */
export function roomFor({ limits, upstreams, underWay, workers }: RoomOptions): Room {
  const most = descriptorsMost()
  const requestsMost = most === undefined ? Number.POSITIVE_INFINITY : requestsWithin(most)
  const bodyBytesDefault = shareOf(defaultBodyBudget(memoryBytes()), workers)
  const bodyBytesMost = () => limits().bodyBudgetBytes ?? bodyBytesDefault
  const uploads = uploadsUnderWay()
  return {
    requestsMost: () => limits().maxConcurrent ?? requestsMost,
    ...headroom({ look: () => descriptorUse(most), upstreams, underWay, now: () => performance.now() }),
    bodyBudget: bodyBudget(bodyBytesMost, uploads),
    answerRoom: answerRoom(bodyBytesMost),
    uploads,
  }
}

/**
 * A quarter of the memory, at most 512 MiB: the rest is for answers, connections, and what a body becomes on its way to
 * providers of other protocols.
 */
export function defaultBodyBudget(memoryBytes: number): number {
  return Math.min(bodyBudgetBytesMost, Math.floor(memoryBytes / 4))
}

/** Of this container where it has a limit, else of this machine. */
function memoryBytes(): number {
  const constrained = process.constrainedMemory()
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem()
}
