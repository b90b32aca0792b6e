// Brings the token of the link, which stands behind the # and so in no request and no history.
"use strict";

(() => {
  const form = document.getElementById("enter");
  const token = location.hash.slice(1);
  history.replaceState(null, "", location.pathname);
  if (!form || !token) return;
  form.elements.token.value = token;
  form.submit();
})();
