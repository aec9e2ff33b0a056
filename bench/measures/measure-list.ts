import { aged } from './aged.ts'
import { bodies150 } from './bodies.ts'
import { firstToken } from './first-token.ts'
import { latency } from './latency.ts'
import type { Measure, MeasureName } from './measure.ts'
import { memory } from './memory.ts'
import { paced } from './paced.ts'
import { plain } from './plain.ts'
import { rate } from './rate.ts'
import { start } from './start.ts'
import { streamThroughput } from './stream-throughput.ts'

/** Every measure by its name. */
export const measureByName: Readonly<Record<MeasureName, Measure>> = {
  'rate-100': rate('rate-100'),
  'rate-1000': rate('rate-1000'),
  'rate-3000': rate('rate-3000'),
  plain,
  aged,
  latency,
  'paced-1': paced('paced-1'),
  'paced-64': paced('paced-64'),
  'paced-1000': paced('paced-1000'),
  'stream-throughput': streamThroughput,
  'first-token': firstToken,
  memory,
  bodies: bodies150,
  start,
}
