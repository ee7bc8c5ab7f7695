// `node conformance-process.ts ADDON`: plays the conformance suite of the native media path over that addon, under any Node that loads
// it. Prints a line for each case that does not hold, then one JSON object.
import { createRequire } from 'node:module'
import type { NativeAddon } from '../../../media/src/io/native-packet-io.ts'
import { NATIVE_PATH_CASES } from '../../../media/src/io/testing/native-path-conformance.ts'

const addon = createRequire(import.meta.url)(process.argv[2]!) as NativeAddon
let failed = 0
for (const { name, check } of NATIVE_PATH_CASES) {
  try {
    await check(addon)
  } catch (error) {
    failed++
    console.error(`${name}: ${error}`)
  }
}
console.log(JSON.stringify({ arch: process.arch, cases: NATIVE_PATH_CASES.length, failed }))
