import { Redis } from 'ioredis'
import { busConformance } from '../bus/conformance.ts'
import { redisMissing, startRedis } from '../bus/conformance-redis.ts'
import { redisBus } from './bus-redis.ts'

busConformance(
  'Redis',
  async () => {
    const { port, stop } = await startRedis()
    const other = new Redis(`redis://127.0.0.1:${port}`)
    return {
      port,
      bus: (port, onProblem) => redisBus({ url: `redis://127.0.0.1:${port}`, onProblem }),
      write: async text => void (await other.publish('parley:bus', text)),
      stop: async () => {
        await other.quit()
        await stop()
      },
    }
  },
  redisMissing(),
)
