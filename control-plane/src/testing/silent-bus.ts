import type { Bus } from '@parley/store'

/** A bus that delivers nothing; code that works with it does not depend on messages. */
export const SILENT_BUS: Bus = { publish: () => {}, subscribe: () => () => {}, close: async () => {} }
