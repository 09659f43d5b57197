/** Put together: bundlers follow the names they can read, and fail where one is not installed. */
const DRIVER = ['@redis', 'client'].join('/')

/** The driver, an optional peer: only those who say `redis://` need it, and only then is it loaded. */
export async function loadDriver(): Promise<typeof import('@redis/client')> {
  try {
    return await import(/* @vite-ignore */ DRIVER)
  } catch (error) {
    if (!(error instanceof Error && error.message.includes(DRIVER))) throw error
    throw new Error(`pawl: redis:// needs its driver beside pawl: npm install ${DRIVER}`, { cause: error })
  }
}
