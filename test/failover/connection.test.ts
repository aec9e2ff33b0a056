import { connectionFaults } from '../fakes/faults/connection.ts'
import { describeMovingOn } from './moves-on.ts'

describeMovingOn('failover from a connection that fails', connectionFaults)
