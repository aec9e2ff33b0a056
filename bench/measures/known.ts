import { bodies150 } from './bodies.ts'
import { firstToken } from './first-token.ts'
import { latency } from './latency.ts'
import type { Measure, MeasureName } from './measure.ts'
import { memory } from './memory.ts'
import { plain } from './plain.ts'
import { start } from './start.ts'
import { streamThroughput } from './stream-throughput.ts'
import { stream } from './stream.ts'
import { streams64 } from './streams-64.ts'
import { throughput } from './throughput.ts'

/** Every measure by its name. */
export const measureByName: Readonly<Record<MeasureName, Measure>> = {
  plain,
  latency,
  throughput,
  stream,
  'streams-64': streams64,
  'stream-throughput': streamThroughput,
  'first-token': firstToken,
  memory,
  bodies: bodies150,
  start,
}
