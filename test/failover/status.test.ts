import { statusFaults } from '../fakes/faults/status.ts'
import { describeMovingOn } from './moves-on.ts'

describeMovingOn('failover from a status', statusFaults)
