import { clientFaults } from './client.ts'
import { configurationFaults } from './configuration.ts'
import type { FaultCase } from './fault-case.ts'
import { linkFaults } from './link.ts'
import { networkFaults } from './network.ts'
import { processFaults } from './process.ts'
import { protocolFaults } from './protocol.ts'
import { storeFaults } from './store.ts'
import { workersFaults } from './workers.ts'

/** All fault cases, in the order of the table. */
export const allFaults: readonly FaultCase[] = [
  ...networkFaults,
  ...linkFaults,
  ...protocolFaults,
  ...clientFaults,
  ...processFaults,
  ...configurationFaults,
  ...storeFaults,
  ...workersFaults,
]
