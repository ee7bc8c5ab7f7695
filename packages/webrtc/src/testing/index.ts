export { BrowserStandIn } from './browser-stand-in.ts'
