/** Stages between a raw relay and svc, each with its additions to the stage before. */
export const stages = {
  raw: '`Bun.serve`, minimal client on `Bun.connect`',
  transport: 'the client of `src/transport/`',
  checked: 'the request is checked and written, a stream is divided into events',
  exchange: '`src/upstream/`: the answer is checked, events become parts',
  layers: 'layers around the provider, with health',
  gateway: 'candidates, failover, resume',
  server: '`src/http/server.ts` and its routes',
  entrance: '`src/http/entrance/`: admission, budgets, deadline, headers, end of a stream',
  svc: 'the whole service: records, metrics, log',
} as const

export type StageName = keyof typeof stages

/** In the order in which they add up. */
export const stageNames: readonly StageName[] = [
  'raw',
  'transport',
  'checked',
  'exchange',
  'layers',
  'gateway',
  'server',
  'entrance',
  'svc',
]
