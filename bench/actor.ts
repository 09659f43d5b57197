/** The process that a player is in. What it is told, and what it answers, goes through the channel to its parent. */
import { Player } from './acting/player.ts'
import { CONTENDERS, type ContenderName } from './contenders.ts'
import type { FromActor, ToActor } from './orders.ts'

const REPORT_EVERY_MS = 10

const player = new Player(await CONTENDERS[process.argv[2] as ContenderName]())
process.on('message', (message: ToActor) => void obey(message))
process.on('disconnect', () => process.exit(0))

let told = 0
setInterval(() => {
  const { started } = player
  if (told === started) return
  told = started
  tell({ started })
}, REPORT_EVERY_MS)

async function obey({ id, order }: ToActor): Promise<void> {
  try {
    tell({ id, answer: await player.play(order) })
  } catch (error) {
    tell({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}

function tell(message: FromActor): void {
  if (process.connected) process.send?.(message)
}
