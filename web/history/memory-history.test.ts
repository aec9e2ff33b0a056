import { memoryHistory } from './memory-history.ts'
import { historyContract } from './testing.ts'

historyContract('in memory', async () => memoryHistory())
