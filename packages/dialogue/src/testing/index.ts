export { isMachine } from '../answer/protocol.ts'
