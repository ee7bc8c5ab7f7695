// Runs before each test file. `vi.waitFor` gives up after 1 s by default, which a busy machine exceeds: here after 60 s.
import { vi } from 'vitest'

const TIMEOUT_MS = 60_000

type WaitFor = typeof vi.waitFor

const waitFor: WaitFor & { readonly isPatient?: boolean } = vi.waitFor
if (waitFor.isPatient !== true) {
  const patient: WaitFor = (callback, options) =>
    waitFor(callback, typeof options === 'number' ? options : { timeout: TIMEOUT_MS, ...options })
  vi.waitFor = Object.assign(patient, { isPatient: true })
}
