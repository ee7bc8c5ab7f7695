import { busConformance } from '../bus/conformance.ts'
import { testDatabase } from '../testing/index.ts'
import { postgresBus } from './bus-postgres.ts'
import { readAddress } from './owner-connection.ts'

busConformance('Postgres, as the application logs in', async () => {
  const { owner, close } = await testDatabase()
  const url = new URL(readAddress(owner.url).logins.all.url)
  return {
    port: Number(url.port),
    bus(port, onProblem) {
      const through = new URL(url)
      through.port = String(port)
      return postgresBus({ url: through.href, onProblem })
    },
    write: async text => void (await owner.query("select pg_notify('parley_bus', $1)", [text])),
    stop: close,
  }
})
