import { createRoot } from 'react-dom/client'
const root = document.getElementById('root')
if (root !== null) createRoot(root).render(<h1 className="text-xl p-4 text-accent bg-page">svc</h1>)
