import 'fake-indexeddb/auto'
import { openHistory } from './open-history.ts'
import { historyContract } from './testing.ts'

let users = 0

historyContract('in a database', () => openHistory(`user ${++users}`))
