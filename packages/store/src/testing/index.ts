export { CHAT, counted, letLeaseEnd, OUTBOUND, rowOf, workspace } from '../runs/runs.fixture.ts'
export { localBus } from './local-bus.ts'
export { type TestDatabase, testDatabase, testDatabaseOn } from './test-database.ts'
export { startTestServer, type TestServer } from './test-server.ts'
