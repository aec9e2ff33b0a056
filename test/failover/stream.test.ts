import { streamFaults } from '../fakes/faults/stream.ts'
import { describeMovingOn } from './moves-on.ts'

describeMovingOn('failover from a stream', streamFaults)
