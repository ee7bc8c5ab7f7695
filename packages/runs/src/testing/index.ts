export { recordedBus } from './recorded-bus.ts'
