import { bodyFaults } from '../fakes/faults/body.ts'
import { describeMovingOn } from './moves-on.ts'

describeMovingOn('failover from a body', bodyFaults)
