// Sign out, on the plain page of {base_url}/app: a change needs a header that no form can send.
for (const button of document.querySelectorAll('button[data-delete]'))
  button.addEventListener('click', async () => {
    const answer = await fetch(button.dataset.delete, { method: 'DELETE', headers: { 'x-lombard-page': '1' } });
    if (answer.ok || answer.status === 401) location.assign('/app');
  });
