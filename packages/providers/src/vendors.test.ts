import { VirtualTime } from '@parley/kernel'
import { expect, it } from 'vitest'
import { VENDORS, vendorCatalogue } from './vendors.ts'

const BASE_URLS: Readonly<Record<string, string>> = {
  azure: 'https://westeurope.api.cognitive.microsoft.com',
  local_stt: 'http://127.0.0.1:9',
}
const access = Object.fromEntries(
  VENDORS.map(({ name }) => [name, { apiKey: 'key', baseUrl: BASE_URLS[name] ?? null, models: ['model'] }]),
)

it('each recogniser says of billed silence what its entry of the catalogue says', async () => {
  const { stt } = vendorCatalogue(access, new VirtualTime())
  expect(stt.length).toBeGreaterThan(5)
  for (const { vendor, models, open, billsSilence } of stt) {
    const recogniser = open!(models[0]!)
    expect({ vendor: vendor.name, bills: recogniser.billsSilence ?? true }).toEqual({
      vendor: vendor.name,
      bills: billsSilence,
    })
    await recogniser.close()
  }
})
