export { BrowserStandIn, type BrowserStandInOptions } from './browser-stand-in.ts'
