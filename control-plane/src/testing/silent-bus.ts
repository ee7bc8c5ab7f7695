import type { Bus } from '@parley/store'

/** A bus that nobody hears: what works with it needs no messages. */
export const SILENT_BUS: Bus = { publish: () => {}, subscribe: () => () => {}, close: async () => {} }
